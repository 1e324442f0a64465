/**
 * Given names that are common somewhere, folded to plain small letters. None that is rather a place, a month, a colour or a word of questionnaires (Georgia,
 * April, Rose, Grace): a column is taken for names by many of them together, so that gaps in the list matter little.
 */
const written = `
james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony donald steven andrew paul joshua kenneth kevin brian timothy ronald jason george edward jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory patrick raymond jack dennis jerry tyler aaron jose adam nathan henry zachary douglas peter kyle noah ethan jeremy walter keith roger terry sean gerald carl harold dylan arthur lawrence jesse bryan billy bruce gabriel joe logan alan juan albert willie elijah wayne randy vincent mason roy ralph bobby russell philip eugene liam oliver lucas leo theo harry oscar archie alfie freddie callum connor ewan rhys gareth owen hugh ian alistair malcolm graham nigel trevor simon stuart neil craig barry duncan declan cormac niall eoin padraig seamus
mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca laura sharon cynthia kathleen amy angela shirley anna brenda pamela emma nicole helen samantha katherine christine debra rachel carolyn janet catherine maria heather diane olivia julie joyce virginie kelly lauren christina joan evelyn judith megan andrea cheryl hannah jacqueline martha gloria teresa ann sara frances kathryn janice jean abigail alice julia judy sophia denise doris marilyn danielle beverly isabella theresa diana natalie brittany marie kayla alexis lori tiffany kathy tammy chloe ellie poppy freya isla niamh aoife siobhan caitlin bronwyn fiona moira eilidh mia ava amelia zoe lucy molly
hans klaus wolfgang jurgen dieter manfred uwe bernd rainer horst gunter helmut werner gerhard heinz karl josef franz stefan andreas matthias markus torsten frank ralf jorg sven jens dirk florian sebastian tobias lukas jonas felix maximilian leon finn luis ben elias moritz niklas jannik fabian philipp tim jan nils lars johannes friedrich wilhelm otto ludwig konrad ulrich holger volker axel detlef hartmut
ursula monika petra elisabeth sabine renate helga karin brigitte ingrid erika christa gisela susanne birgit claudia heike martina angelika gabriele anja katrin silke nadine stefanie katharina lena lea leonie johanna sophie luisa charlotta greta frieda mathilda ida clara emilia hanna lina anke antje ulrike heidi gudrun waltraud hildegard irmgard gertrud anneliese rosemarie jutta ute anneke wiebke swantje
pierre michel andre philippe alain bernard jacques marcel rene louis claude francois nicolas laurent thierry pascal christophe frederic olivier julien guillaume antoine mathieu maxime alexandre romain benoit sylvain cedric fabrice gilles yves didier serge luc remi baptiste clement hugo enzo mathis raphael gaston emile etienne
monique francoise isabelle nathalie sylvie martine valerie sandrine veronique celine aurelie emilie camille manon ines jade louise margaux pauline elodie amandine delphine genevieve odile simone yvette colette solange mathilde juliette helene agathe oceane
antonio manuel francisco javier carlos jesus alejandro miguel rafael pedro angel pablo sergio fernando jorge alberto alvaro diego adrian raul enrique ramon vicente ivan ruben andres joaquin santiago eduardo victor mario roberto jaime ignacio salvador gonzalo tomas emilio ricardo guillermo rodrigo esteban mateo thiago
carmen josefa isabel dolores pilar ana francisca antonia mercedes cristina marta rosa lucia juana paula elena raquel manuela beatriz concepcion rosario encarnacion irene silvia montserrat sofia alba noelia natalia veronica lorena esther yolanda inmaculada gabriela valentina camila ximena daniela mariana guadalupe alejandra fernanda
giuseppe giovanni luigi francesco angelo vincenzo pietro salvatore carlo franco domenico bruno paolo michele giorgio aldo luciano marco alessandro matteo lorenzo davide federico riccardo stefano fabio claudio massimo gianluca nicola tommaso leonardo edoardo
giuseppina giovanna carmela caterina francesca antonietta carla concetta rita margherita franca paola giulia chiara alessia elisa ilaria federica alessandra roberta simona monica aurora ginevra beatrice
joao paulo luiz marcos marcelo felipe raimundo manoel mateus gustavo guilherme leandro tiago anderson marcio sebastiao edson vitor duarte goncalo nuno rui
adriana juliana marcia aline bruna leticia luciana vanessa vera vitoria larissa luana sonia renata eliane joana catarina matilde
cornelis hendrik willem pieter jacobus gerrit maarten joost bram daan sem thijs koen bas sander wouter jeroen niels pim sjoerd cornelia wilhelmina hendrika femke sanne lotte anouk fleur marloes esmee roos saskia marijke
erik anders johan magnus fredrik mikael mats ola bjorn hakan gunnar stig bengt rolf olof gustaf oskar viktor emil linus kristian morten henrik soren jesper kasper rasmus mads jorgen ole kjell svein knut harald sigurd eirik haakon matti juhani jari timo mikko antti jukka kari pekka heikki eero ville teemu aino anni emmi jon gudmundur sigurdur olafur einar
eva kristina kerstin birgitta ulla gunilla inger annika astrid elsa maja ebba wilma alva freja signe sofie mette hanne kirsten lise bente anne randi solveig ragnhild turid silje ingeborg helvi sari paivi tiina minna kaisa riikka liisa sigrun kristin
piotr krzysztof andrzej tomasz pawel michal marcin jakub stanislaw marek lukasz grzegorz mateusz wojciech mariusz dariusz zbigniew jerzy maciej rafal kamil jacek kazimierz tadeusz katarzyna malgorzata agnieszka ewa krystyna elzbieta magdalena joanna aleksandra zofia danuta karolina beata dorota halina jadwiga
jiri petr pavel jaroslav martin miroslav frantisek zdenek vaclav milan karel vladimir ondrej ladislav jana hana lenka katerina lucie alena veronika jaroslava tereza jozef milos zuzana iveta janka
laszlo istvan jozsef janos zoltan sandor gabor ferenc attila tamas zsolt tibor andras balazs gergely erzsebet katalin ilona zsuzsanna margit judit agnes ildiko krisztina reka zsofia
ion gheorghe vasile constantin mihai alexandru nicolae florin marius cristian ionut ioana mihaela andreea florentina ana-maria doina georgi dimitar nikolay petar hristo todor mariya ivanka yordanka penka desislava
aleksandr sergei sergey andrei andrey alexey aleksei dmitri dmitry mikhail nikolai igor oleg yuri anatoly konstantin maxim denis evgeny roman artem ilya kirill boris gennady vadim olga tatiana natalya irina svetlana ekaterina galina lyudmila ludmila nina oksana yulia anastasia lyubov nadezhda larisa ksenia darya polina alla tamara oleksandr serhii volodymyr mykola andrii vasyl petro yurii oleh bohdan taras iryna nataliia kateryna halyna
александр сергей владимир андрей алексей дмитрий михаил николай иван игорь юрий павел максим денис роман елена ольга татьяна наталья ирина светлана анна екатерина мария галина людмила нина юлия анастасия
georgios ioannis konstantinos dimitrios nikolaos panagiotis vasileios christos athanasios michail evangelos spyros yannis kostas eleni aikaterini vasiliki angeliki georgia-maria dimitra ioanna panagiota γιωργος γιαννης κωστας δημητρης νικος μαρια ελενη κατερινα
nikola jovan marko luka dragan zoran goran branko ivica ante tomislav mladen damir tihomir bojan matej jure marija ivana jelena milica jovana dragana snezana vesna katarina mirjana andreja mojca natasa
mehmet mustafa ahmet ali huseyin hasan ibrahim ismail osman yusuf murat omer halil mahmut emre burak kemal cem serkan fatih onur tolga fatma ayse emine hatice zeynep elif meryem serife zehra sultan hanife merve busra esra ozlem derya ebru gamze tugba sevgi gul
mohammed muhammad mohamed mohammad ahmed ahmad mahmoud omar umar hassan hussein hussain abdullah abdul abdulrahman khaled khalid youssef yousef mustapha samir karim tariq tarek bilal hamza rashid walid nasser faisal fahad saeed sami ziad jamal kamal anwar adel hisham fatima fatimah aisha ayesha khadija maryam mariam zainab zaynab amina aminah salma layla leila yasmin yasmine noor nour huda hoda samira nadia rania dina hanan iman mona sana hiba rana farah zahra
محمد احمد علي حسن حسين عمر خالد يوسف ابراهيم عبدالله فاطمة عائشة مريم زينب خديجة سارة نور ليلى
reza hossein mehdi amir hamid saeid javad behrouz farhad kaveh dariush bahram arash babak shahram fatemeh shirin nasrin parisa mahsa niloufar leyla azadeh
avraham moshe yosef yaakov yitzhak shlomo eitan noam itai yonatan amit uri gil tamar noa shira yael miriam rivka avigail hila
anil arjun ashok deepak ganesh gopal krishna kumar mahesh manoj mohan mukesh naresh pradeep prakash rahul raj rajesh raju rakesh ram ramesh ravi sanjay santosh suresh sunil vijay vinod vikram rohan aditya karthik anita anjali asha deepa geeta kavita lakshmi lata madhu meena neha nisha pooja prema priya radha rekha rani ritu sarita savita seema shanti sita sunita sushila usha vidya lalitha divya kiran swati
imran asif nadeem zahid tahir shahid usman kashif waqar rizwan fazal bushra nasreen shazia rukhsana rubina saima sadia nazia farzana
wei fang jing lei li yan ying hui jun qiang tao ming chao yong jie xiu xia ping lan yu hao xin yang bin peng lin jian zhen mei xiaoming jianguo zhiwei chen wen
伟 芳 娜 秀英 敏 静 丽 强 磊 军 洋 勇 艳 杰 娟 涛 明 超 秀兰 霞 平 刚 桂英
hiroshi takashi kenji akira makoto satoshi kazuo shigeru minoru yoshio takeshi kenta shota daiki haruto yuto sota ren yuki haruki hiroki yoko keiko kazuko sachiko yumiko akiko noriko tomoko michiko hiroko mayumi naomi emi aya misaki sakura hina yui aoi rin haruka ayumi
太郎 花子 健 誠 浩 隆 裕子 恵子 陽子 美咲 さくら 翔太 大輔
minjun seojun jihoon jiho junseo hyunwoo donghyun sungmin youngho jiwoo seoyeon jiyeon minji yuna soojin hyejin eunji jihye seohyun min-jun ji-hoon seo-yeon 민준 서준 지훈 서연 지우 민지 영수 영희 철수
nguyen tran minh tuan dung hieu khanh quang duc linh huong thao trang thuy nga phuong anh hoa ngoc thanh
somchai somsak prasert wichai anan sompong malee suda ratana siriporn budi agus slamet sutrisno joko bambang siti sri dewi ani wati nur ayu putri rizal jomar rodel jun-jun marites rowena maricel
kwame kofi kwabena yaw akosua ama abena adwoa chinedu emeka chukwu ngozi chioma ifeoma amaka ade tunde femi segun yetunde folake bola oluwaseun ayodele babatunde funke kehinde taiwo musa sani aminu halima hauwa
juma hamisi salim abdallah rehema mwanaisha neema wanjiku njeri kamau mwangi otieno achieng akinyi wambui kipchoge chebet thabo sipho themba bongani nomsa thandiwe lerato tendai farai chipo tatenda mamadou ousmane ibrahima moussa amadou boubacar aminata fatoumata mariama kadiatou awa seydou abebe tesfaye haile getachew dawit almaz tigist hiwot selam meseret
`;

const fold = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('ı', 'i');

let names: ReadonlySet<string> | undefined;

export function isFirstName(word: string): boolean {
  names ??= new Set(fold(written).split(/\s+/u).filter((name) => name !== '')); // biome-ignore format: one line
  const folded = fold(word);
  return names.has(folded) || names.has(folded.replace(/ae/g, 'a').replace(/oe/g, 'o').replace(/ue/g, 'u'));
}
